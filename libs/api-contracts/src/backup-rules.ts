import { IsBoolean, IsInt, IsObject, Matches, Max, Min } from 'class-validator';
import { Nested, Optional } from './fields.js';

const IsKeepCount = (): PropertyDecorator => (target, property) => {
  // As decorators on a property: the last one first, so that the type is reported before the bounds.
  for (const decorate of [Max(10_000), Min(0), IsInt(), Optional()]) decorate(target, property);
};

/** How many backups of each VM are kept: of each hour, day and so on the last one. */
export class KeepRulesDto {
  /** How many of the newest ones. */
  @IsKeepCount() last?: number;
  /** For how many hours the last one. */
  @IsKeepCount() hourly?: number;
  /** For how many days the last one. */
  @IsKeepCount() daily?: number;
  /** For how many weeks, which begin on Monday, the last one. */
  @IsKeepCount() weekly?: number;
  /** For how many months the last one. */
  @IsKeepCount() monthly?: number;
  /** For how many years the last one. */
  @IsKeepCount() yearly?: number;
}

/** Where a schedule backs VMs up to, and which of its backups remain. */
export class ScheduledBackupDto {
  /** The ID of the target. */
  @Matches(/^[0-9a-f]{16}$/, { message: '$property must be the ID of a backup target.' }) target!: string;
  /**
   * Applied after each run, in the time zone of the schedule, to the VMs that it has backed up: only backups that the
   * schedule has created are deleted, and never its newest one of a VM. Without it, all remain.
   */
  @Optional() @IsObject() @Nested(() => KeepRulesDto) keep?: KeepRulesDto;
  /**
   * Whether the new backups are booted without a network after each run, one after the other, in the contexts of their
   * VMs. The owner of the schedule needs the right to create instances everywhere.
   */
  @Optional() @IsBoolean() prove?: boolean;
  /** Whether `keep` deletes a backup only if a newer one of the same VM has booted. The newest one that has stays. */
  @Optional() @IsBoolean() onlyIfProved?: boolean;
}
