package api

import "slices"

// questions are what ASK asks, by its argument.
var questions = map[string][]object{
	"":      {database},
	"MULTI": {features},
	"MANY":  {database, features},
	"LONG":  {rollout},
}

var (
	database = question("Which database should it use?", "Database", false,
		"SQLite", "One file, no server", "Postgres", "A server of its own")
	features = question("Which features should it have?", "Features", true,
		"Search", "Find a record by its words", "Export", "Write all records to a file")
	rollout = question("How shall the new version be brought to the machines, which can't all be reached at once and of which some are in use?", "Rollout", false,
		"Roll out to every machine at once", "Each gets it as soon as it can be reached, and those that are in use are told so beforehand",
		"Roll out to every machine that is idle, and to the others in the night of the same day", "Nobody is disturbed",
		"Roll out in stages", "A tenth of the machines first, then half of them, then all; a stage begins when nobody has complained about the one before it for a day",
		"Wait", "Nothing is done now")
)

// question has options of a label and a description each.
func question(text, header string, multi bool, options ...string) object {
	var list []object
	for i := 0; i+1 < len(options); i += 2 {
		list = append(list, object{"label": options[i], "description": options[i+1]})
	}
	return object{"question": text, "header": header, "multiSelect": multi, "options": list}
}

// offered is the first of the names that the client offers a tool of; versions
// call the same tool by different ones. Where it offers none, the first.
func (t *turnReply) offered(names ...string) string {
	for _, name := range names {
		if slices.Contains(t.tools, name) {
			return name
		}
	}
	return names[0]
}

// agent asks for a subagent, in the background for DELEGATE.
func (t *turnReply) agent(id string, a action) {
	input := object{"description": "Do a part of it", "prompt": a.text, "subagent_type": "general-purpose"}
	if a.verb == verbDelegate {
		input["run_in_background"] = true
	}
	t.tool(id, t.offered("Agent", "Task"), input)
}

// todo makes a list of two tasks, by the tool that the version has for it:
// older ones set the whole list, newer ones one task a call.
func (s *Server) todo(t *turnReply) {
	if t.offered("TaskCreate", "TodoWrite") == "TodoWrite" {
		t.tool(s.nextID(), "TodoWrite", object{"todos": []object{
			{"content": "Read the notes", "activeForm": "Reading the notes", "status": "in_progress"},
			{"content": "Write the report", "activeForm": "Writing the report", "status": "pending"},
		}})
		return
	}
	t.tool(s.nextID(), "TaskCreate", object{
		"subject": "Read the notes", "description": "Read all of the notes", "activeForm": "Reading the notes",
	})
}
