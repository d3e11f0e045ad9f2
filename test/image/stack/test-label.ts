/** Label of every container that a test starts by itself, so that the next run finds what a killed one left. */
export const TEST_LABEL = 'stream-consumer.test=image';
