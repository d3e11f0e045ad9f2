// Written by npm run generate out of consumer.yaml's schema; never edited.

/** The component diskSpace of the health report. */
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
