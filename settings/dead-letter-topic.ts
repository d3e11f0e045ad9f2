import type { Settings } from './settings.ts';

/** The topic that takes the dead letters of `topic`: `deadLetters.topic`, or where that is left out `<topic>.dead-letters`. */
export const deadLetterTopic = (settings: Pick<Settings['deadLetters'], 'topic'>, topic: string): string =>
  settings.topic ?? `${topic}.dead-letters`;
