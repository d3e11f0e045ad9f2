// Written by npm run generate out of consumer.yaml's schema; never edited.

/** What is logged. */
export interface ApplicationLoggingProps {
  /**
   * Least severe level that is logged.
   *
   * @default 'info'
   */
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}
