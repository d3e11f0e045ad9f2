/**
 * Why a record is in `dead_letters` instead of its tables: a closed set, because it is also a metric label.
 * Each text is for a person and completes "this record is a dead letter because ...".
 */
export const DEAD_LETTER_REASON = {
  invalid_json: 'its value is not JSON',
  invalid_utf8: 'its value is not UTF-8',
  nul_character: 'its value holds a NUL character, which neither text nor jsonb can store',
  number_out_of_range: 'its value holds a number that PostgreSQL numeric cannot store',
  nesting_too_deep: "its value is nested deeper than PostgreSQL's stack allows",
  jsonb_limit_exceeded: 'its value exceeds a size limit of jsonb',
  value_too_large: 'its value is larger than consumer.maxValueBytes',
  key_not_text: 'its key is not UTF-8 text without NUL',
  timestamp_out_of_range: 'its timestamp is outside the range of timestamptz',
  value_does_not_fit: 'a value does not fit its column in a table of your own',
  missing_value: 'it has no value for a column that needs one in a table of your own',
  constraint_violated: 'a constraint of a table of your own refuses it',
  no_value: 'it has no value, and a table of your own takes fields of it',
  undecodable: 'its value is not what the format or the envelope of its topic has to be',
  unknown_schema: 'the schema registry does not know the schema that it names',
  truncate: 'its event empties a table of the source, which has no order against the rows of other partitions',
  unmatched: 'no table of your own takes it by the conditions of its topic',
  rejected_by_database: 'PostgreSQL refused it for another reason: see the column error',
} as const;

export type DeadLetterReason = keyof typeof DEAD_LETTER_REASON;

export const DEAD_LETTER_REASONS = Object.keys(DEAD_LETTER_REASON) as readonly DeadLetterReason[];

/** Whether a word is one of the reasons. */
export const isDeadLetterReason = (word: string): word is DeadLetterReason =>
  DEAD_LETTER_REASONS.some((reason) => reason === word);
