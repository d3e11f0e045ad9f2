// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How records become rows. */
export interface ApplicationRecordsProps {
  /**
   * How keys are stored in records.key: as text, where a key that is not text is a dead letter, or all of them as
   * base64.
   *
   * @default 'text'
   */
  readonly keyEncoding?: 'text' | 'base64';
}
