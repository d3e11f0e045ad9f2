// Written by npm run generate out of consumer.yaml's schema; never edited.

/** What the server is told. */
export interface ApplicationSpringBootAdminClientInstanceProps {
  /**
   * Name to be shown. Left out: management.metrics.tags.application.
   *
   * @default - management.metrics.tags.application
   */
  readonly name?: string;

  /**
   * Where the server finds this consumer, up to the port. Left out: the Pod's IP (environment variable POD_IP), else
   * the machine's name, with scheme and port as they are.
   *
   * Allowed: an http or https URL without user, query and fragment.
   *
   * @default - the Pod's IP (environment variable POD_IP), else the machine's name, with scheme and port as they are
   */
  readonly 'service-base-url'?: string;

  /**
   * The list of endpoints. Left out: the base URL and the base path.
   *
   * Allowed: an http or https URL without user, query and fragment.
   *
   * @default - the base URL and the base path
   */
  readonly 'management-url'?: string;

  /**
   * The health. Left out: the base URL and the path of the health.
   *
   * Allowed: an http or https URL without user, query and fragment.
   *
   * @default - the base URL and the path of the health
   */
  readonly 'health-url'?: string;

  /**
   * Whether the server is told user and password of management.security (metadata user.name, user.password), without
   * which it sees the status of the health alone.
   *
   * @default false
   */
  readonly 'send-credentials'?: boolean;

  /**
   * Told to the server as it is, such as tags.environment: staging.
   *
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, string>>;
}
