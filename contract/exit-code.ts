/**
 * What the consumer's process ends with. A supervisor (kubelet, systemd, a script) reads no logs: the code alone has to
 * distinguish "restart me" from "a restart will not help".
 */
export const EXIT_CODE = {
  /** Drained after SIGTERM or SIGINT: rows and offsets are committed, the group was left. */
  ok: 0,
  /** A fatal error, or a second signal: one log line says what and where. */
  failed: 1,
  /** The configuration is wrong and nothing was written (`EX_CONFIG` of BSD's sysexits.h). */
  configuration: 78,
} as const;

/** What `tables dry-run` ends with where a record would be a dead letter (`EX_DATAERR` of sysexits.h). */
export const EXIT_CODE_OF_DEAD_LETTERS = 65;
