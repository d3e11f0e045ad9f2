/**
 * The part of a logger that the process uses: pino's, which is Fastify's own. Fields first, then one sentence.
 * Nothing logged at `info` or above may hold a secret or a record's content.
 */
export interface Logger {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}
