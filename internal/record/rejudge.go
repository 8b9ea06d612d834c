package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// rejudge reads a recording back as results, so that detect can be asked about
// its screens anew. What was meant and what the witnesses said is in its table.
func rejudge(conf config, folder string) ([]result, error) {
	r, err := readRecording(conf, folder)
	if err != nil {
		return nil, err
	}
	var results []result
	kept := readRows(filepath.Join(r.dir, table))
	for _, name := range kept.names {
		fields := kept.of[name]
		res := result{scene: scene{name: name, state: fields[1], draft: fields[2]}, missed: fields[3]}
		t, recorded := r.scenes[name]
		if res.missed != "" || !recorded {
			results = append(results, res)
			continue
		}
		if res.view, err = parseView(t.facts + "\n" + t.raw); err != nil {
			return nil, err
		}
		res.view.witnesses = readWitnesses(fields[4], fields[5], fields[6])
		results = append(results, res)
	}
	return results, nil
}

// readWitnesses reads the columns session, turns and process.
func readWitnesses(session, turns, process string) witnesses {
	w := witnesses{process: process}
	var waiting string
	w.status, waiting, _ = strings.Cut(session, " (")
	w.waitingFor = strings.TrimSuffix(waiting, ")")
	w.turns, _ = strconv.Atoi(turns)
	return w
}

// writeTable writes the table of results that were judged anew. Those that were
// missed keep their row.
func writeTable(dir string, conf config, results []result) error {
	rows := readRows(filepath.Join(dir, table))
	for _, r := range results {
		if r.missed == "" && r.view != nil {
			rows.put(conf.row(r))
		}
	}
	return os.WriteFile(filepath.Join(dir, table), []byte(rows.text()), 0o644)
}
