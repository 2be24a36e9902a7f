import { IsOptional } from 'class-validator';
import { FilledText, Flag } from './fields.js';

export class LogSection {
  /** Whether refusals are logged, with their rule and key. Repetitions are summed up. */
  @Flag() refusals = true;
  /** The file that receives the facts of each request that rules could count, for `replay`. Absent: there is none. */
  @IsOptional() @FilledText() requests_file?: string;
}
