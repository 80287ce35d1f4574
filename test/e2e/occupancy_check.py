"""Occupancy of a Kineto file's kernels: ours by configuration against the estimate that Kineto wrote beside each kernel.
usage: occ.py GPROF_TRACE FILE..."""
import csv, gzip, io, json, subprocess, sys
tool, files = sys.argv[1], sys.argv[2:]
total = bad = 0
for f in files:
    d = json.load((gzip.open if f.endswith('gz') else open)(f))
    props = {p.get('id', i): p for i, p in enumerate(d.get('deviceProperties', []))}
    out = subprocess.run([tool, 'report', '-r', 'occupancy', '-f', 'csv', f], capture_output=True, text=True).stdout
    ours = {}
    for r in csv.DictReader(io.StringIO(out)):
        if r['occupancy_pct']:
            ours[(r['grid'], r['block'], r['registers_per_thread'], r['shared_bytes'], r['device'])] = int(r['blocks_per_sm'])
    for e in d['traceEvents']:
        a = e.get('args', {})
        est = a.get('est. achieved occupancy %')
        if e.get('cat', '').lower() != 'kernel' or est is None: continue
        key = (' '.join(map(str, a['grid'])), ' '.join(map(str, a['block'])), str(a['registers per thread']), str(a['shared memory']), str(a['device']))
        if key not in ours:
            print(f, 'not there', key); bad += 1; continue
        p = props[a['device']]
        grid = a['grid'][0] * a['grid'][1] * a['grid'][2]; threads = a['block'][0] * a['block'][1] * a['block'][2]
        want = min(grid, ours[key] * p['numSms']) * threads * 100 / (p['maxThreadsPerMultiprocessor'] * p['numSms'])
        if est == 0 and a['shared memory'] > p['sharedMemPerBlock']: continue  # Kineto knows no opt-in shared memory and writes 0
        total += 1
        if abs(want - est) > 0.5001 and abs(min(grid / p['numSms'], ours[key]) * threads * 100 / p['maxThreadsPerMultiprocessor'] - est) > 1:
            bad += 1
            if bad < 20: print(f.split('/')[-1], key, est, want, ours[key])
print(total, 'kernels,', bad, 'differ')
sys.exit(bad > 0 or total == 0)
