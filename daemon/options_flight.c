#include "options_flight.h"

#include <string.h>

#include "log.h"
#include "option_values.h"

/* Two of the largest pages, so that one always fits. */
#define BYTES_MIN (1u << 20)
#define WINDOW_DEFAULT "30s"
#define OUTPUT_DEFAULT "flight.dat"

static bool writes_to_stdout(const struct options *options)
{
    for (size_t i = 0; i < options->output_count; i++)
        if (strcmp(options->outputs[i], "-") == 0)
            return true;
    return false;
}

int options_check_flight(struct options *options)
{
    if (!options->flight && options->trigger)
        options->flight = WINDOW_DEFAULT;
    if (!options->flight)
        return 0;
    if (!option_window(options->flight, &options->flight_ns, &options->flight_bytes)) {
        log_error("--flight: \"%s\" is not a time and perhaps a size, like 30s or 30s,256M",
                  options->flight);
        return EXIT_USAGE;
    }
    if (options->flight_bytes < BYTES_MIN) {
        log_error("--flight: %s holds too little: give at least 1M", options->flight);
        return EXIT_USAGE;
    }
    if (writes_to_stdout(options)) {
        log_error("--flight writes numbered files: - cannot be one of them"
                  "; -o OUT.dat names them");
        return EXIT_USAGE;
    }
    if (options->rotate_bytes || options->rotate_ns || options->keep_bytes) {
        log_error("--rotate and --keep have no meaning for --flight: each trigger makes a file");
        return EXIT_USAGE;
    }
    if (options->summary) {
        log_error("--summary has no meaning for --flight: replay a recording with it");
        return EXIT_USAGE;
    }
    if (options->output_count == 0)
        options->outputs[options->output_count++] = OUTPUT_DEFAULT;
    return 0;
}
