/* For each line "SCHEDULE N" prints the schedule's action in each of the first N steps (- nothing, w warm-up, r record, S record and save),
 * or why the schedule is invalid. */
#include "trace/rules/schedule.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	char text[512], why[256];
	unsigned n;

	while (scanf("%511s %u", text, &n) == 2) {
		struct schedule s;

		if (schedule_parse(&s, text, why, sizeof why) < 0) {
			printf("refused: %s\n", why);
			continue;
		}
		for (unsigned i = 0; i < n; i++)
			putchar("-wrS"[schedule_action(&s, i)]);
		putchar('\n');
	}
	return 0;
}
