"""torch_schedules.py PROGRAM COUNT SEED: random schedules, what torch.profiler.schedule() makes of them against what PROGRAM does."""
import random
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")
from torch.profiler import ProfilerAction, schedule  # noqa: E402

LETTER = {
    ProfilerAction.NONE: "-",
    ProfilerAction.WARMUP: "w",
    ProfilerAction.RECORD: "r",
    ProfilerAction.RECORD_AND_SAVE: "S",
}
program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
asked = []
for _ in range(count):
    big = random.choice((2, 5, 20, 200))
    words = {
        "wait": random.randint(0, big),
        "warmup": random.randint(0, big),
        "active": random.randint(0 if random.random() < 0.1 else 1, big),
    }
    for word in ("repeat", "skip_first", "skip_first_wait"):
        if random.random() < 0.6:
            words[word] = random.randint(0, big)
    if random.random() < 0.05:
        words[random.choice(("wait", "warmup", "active", "repeat", "skip_first"))] = -random.randint(1, big)
    items = list(words.items())
    random.shuffle(items)
    cycle = max(1, sum(words[w] for w in ("wait", "warmup", "active")))
    steps = min(2000, abs(words.get("skip_first", 0)) + cycle * (abs(words.get("repeat", 0)) + 2) + random.randint(1, 10))
    asked.append((words, ",".join(f"{k}={v}" for k, v in items), steps))

lines = "".join(f"{text} {steps}\n" for _, text, steps in asked)
said = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
assert len(said) == count, f"{len(said)} answers for {count} schedules"
wrong = refused = actions = 0
for (words, text, steps), ours in zip(asked, said):
    try:
        fn = schedule(**words)
        theirs = "".join(LETTER[fn(i)] for i in range(steps))
        actions += steps
    except AssertionError:
        theirs = "refused"
        refused += 1
        ours = ours.split(":")[0]
    if ours != theirs:
        wrong += 1
        print(f"{text}: {ours}, torch says {theirs}")
print(f"schedules {count} refused {refused} actions {actions} wrong {wrong}")
sys.exit(wrong > 0)
