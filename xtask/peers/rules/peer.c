/* Expands recurrence rules with libical. See `src/main.rs` for the lines. The argument is `starts` or `time`. */

#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double WORTH_TIMING = 0.1e9;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Prints the starts, if asked to, and returns their number, or -1 if the rule is refused. */
static long expand(struct icalrecurrencetype rule, long long first, long long from, long long to, int prints)
{
    struct icaltimetype start = icaltime_from_timet_with_zone((time_t)first, 0, icaltimezone_get_utc_timezone());
    icalrecur_iterator *iterator = icalrecur_iterator_new(rule, start);
    if (iterator == NULL) {
        return -1;
    }
    long count = 0;
    for (;;) {
        struct icaltimetype next = icalrecur_iterator_next(iterator);
        if (icaltime_is_null_time(next)) {
            break;
        }
        long long at = (long long)icaltime_as_timet(next);
        if (at >= to) {
            break;
        }
        if (at >= from) {
            if (prints) {
                printf(count == 0 ? "%lld" : ",%lld", at);
            }
            count++;
        }
    }
    icalrecur_iterator_free(iterator);
    return count;
}

int main(int argc, char **argv)
{
    int timed = argc > 1 && strcmp(argv[1], "time") == 0;
    char line[1 << 14];
    char text[1 << 13];
    icalerror_set_errors_are_fatal(0);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        long long first, from, to;
        if (sscanf(line, "%8191[^\t]\t%lld\t%lld\t%lld", text, &first, &from, &to) != 4) {
            return 1;
        }
        struct icalrecurrencetype rule = icalrecurrencetype_from_string(text);
        long count = rule.freq == ICAL_NO_RECURRENCE ? -1 : expand(rule, first, from, to, !timed);
        if (count < 0) {
            printf("refused\n");
        } else if (!timed) {
            printf("\n");
        } else {
            double began = now();
            long runs = 0;
            while (now() - began < WORTH_TIMING) {
                expand(rule, first, from, to, 0);
                runs++;
            }
            printf("%ld\t%.0f\n", count, (now() - began) / (double)runs);
        }
        fflush(stdout);
    }
    return 0;
}
