/** What Kafka takes as a topic's name. */
export const TOPIC_PATTERN = '^[a-zA-Z0-9._-]{1,249}$';

/** The same in words. */
export const TOPIC_ALLOWED = "a topic's name: 1 to 249 letters, digits, dots, underscores and dashes";
