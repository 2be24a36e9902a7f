import { OPERATION_NAMES, type Operation } from '@headgate/domain-contracts';
import { IsIn, IsString } from 'class-validator';

/** The task that changes an instance or needs it unchanged: other changes are refused until it has ended. */
export class BusyView {
  /** The ID of the task. */
  @IsString() task!: string;
  /** The operation that the task carries out. */
  @IsIn(OPERATION_NAMES) action!: Operation;
}
