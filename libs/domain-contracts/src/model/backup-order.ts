/** How many backups of a VM are kept: of each hour, day, … the last one. */
export interface KeepRules {
  readonly last?: number;
  readonly hourly?: number;
  readonly daily?: number;
  readonly weekly?: number;
  readonly monthly?: number;
  readonly yearly?: number;
}

/** Where the members of a bulk task are backed up to, and which of the backups of its schedule remain there. */
export interface BackupOrder {
  /** The ID of the target. */
  readonly target: string;
  /** Applied when the members have ended, to the backups of those that succeeded. All backups remain without it. */
  readonly keep?: KeepRules;
  /** Whether the new backups are booted when the members have ended. */
  readonly prove?: boolean;
  /** Whether backups are deleted only if a newer one of the same VM has booted. */
  readonly onlyIfProved?: boolean;
  /** Of the IANA database: its days and hours count for `keep`. */
  readonly timeZone?: string;
}
