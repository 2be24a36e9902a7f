import { IsOptional } from 'class-validator';
import { IsListenAddress } from '@headgate/nest-kit';
import { HeaderToken } from './fields.js';

export class OperatorSection {
  /** The listener of the operator's API. Absent: there is none. */
  @IsOptional() @IsListenAddress() listen?: string;
  /** The bearer token of callers. Required unless the listener is on a loopback address. */
  @IsOptional() @HeaderToken(16) token?: string;
}
