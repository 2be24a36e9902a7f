import { IsOptional } from 'class-validator';
import { IsListenAddress } from '@headgate/nest-kit';
import { HeaderToken, OperatorTokens } from './fields.js';

export class OperatorSection {
  /** The listener of the operator's API. Absent: there is none. */
  @IsOptional() @IsListenAddress() listen?: string;
  /** The bearer token of callers. Required unless the listener is on a loopback address. */
  @IsOptional() @HeaderToken(16) token?: string;
  /** Further tokens by the names of their operators, under which the journal has what they did. */
  @OperatorTokens() tokens: Record<string, string> = {};
}
