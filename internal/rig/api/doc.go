// Package api is a scripted Messages API: it makes the real client stream, use
// tools, ask, wait and fail, with no account and no internet.
//
// What a request is answered with is decided by the newest text of the user,
// the client's own reminders apart. The first line of it that begins with one
// of these words, and has the argument that the word needs, says what to do:
//
//	SAY text       answer with that text
//	MARKDOWN LONG  answer with a page of every kind of block; MARKDOWN FAKES
//	               with quotations of what the client draws itself
//	STREAM n       stream words for n seconds, then `Done: STREAM n`
//	HOLD name      show a line of an answer, then wait for Server.Release(name)
//	WAIT name      the same, but wait before the first word
//	THINK name     the same, but wait after a thought
//	SILENT name    the same, but wait before the first byte of the reply
//	TOOL command   use Bash; after its result, `Done: tool finished`
//	BACKGROUND command  the same, in the background
//	WRITE path     use Write; a number behind it is how many lines
//	FETCH url      use WebFetch
//	CALL name      use the tool of that name, with no input, or with the JSON
//	               object behind it
//	AGENT prompt   use a subagent, which gets that prompt
//	DELEGATE prompt  the same, in the background
//	COMPACT name   answer; and if the next thing asked for is a summary of the
//	               talk, hold it until Server.Release(name)
//	TASK           put a task on the list
//	ASK            use AskUserQuestion; ASK MULTI asks one of many choices,
//	               ASK MANY asks two questions, and ASK LONG one with options that
//	               begin alike and take several rows each
//	PLAN           use ExitPlanMode, where the client offers it
//	ERR status     fail with that HTTP status, 400 to 599, and with the text
//	               behind it where there is one
//	DROP           break the connection off
//	LIMIT n        fail as a used-up usage limit that resets in n seconds; a
//	               word behind it names the window, which is else five_hour
//	THEN ...       any of these, for when a tool's result comes back; each such
//	               line is for one more result
//
// Anything else is answered with `Done: ` and its first line. An error lasts as
// long as its prompt is the newest, however often the client tries again. A
// request with no tools is the client's own, such as for a title, and is
// answered with a short text; any other path is answered with {}.
//
// What may live here: what the vendor's API shows to a client. What may not:
// the client itself, or hosts.
package api
