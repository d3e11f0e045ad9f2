// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How the container gets what the Secrets hold; either way when it starts. */
export interface SecretsProps {
  /**
   * environment: variables. files: a folder that the consumer reads as a config tree; nothing of it is in the
   * environment.
   *
   * @default 'environment'
   */
  readonly as?: 'environment' | 'files';
}
