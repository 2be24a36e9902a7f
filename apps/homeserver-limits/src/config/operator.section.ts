import { IsOptional } from 'class-validator';
import { IsListenAddress } from '@headgate/nest-kit';
import { LongText } from './fields.js';

export class OperatorSection {
  /** Where the operator's API listens. Absent: nowhere. */
  @IsOptional() @IsListenAddress() listen?: string;
  /** The bearer token that callers show; needed unless the listener is on a loopback address. */
  @IsOptional() @LongText(16) token?: string;
}
