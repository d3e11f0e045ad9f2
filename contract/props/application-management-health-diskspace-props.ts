// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `application.management.health.diskspace` of consumer.yaml. */
export interface ApplicationManagementHealthDiskspaceProps {
  /**
   * Folder whose file system is watched.
   *
   * @default '.'
   */
  readonly path?: string;

  /**
   * Free bytes below which diskSpace is DOWN.
   *
   * @default 10485760
   */
  readonly threshold?: number;
}
