import { IsArray } from 'class-validator';
import { IsListenAddress } from '@headgate/nest-kit';
import { Flag, Network, OneOf, RegistrationToken, ServerName } from './fields.js';

export class ServerSection {
  /** The name in user ids, and the destination that peers sign for. */
  @ServerName() name = 'localhost';
  @IsListenAddress() listen = '127.0.0.1:8008';
  /** Who may tell us the caller's address in X-Forwarded-For. */
  @IsArray() @Network({ each: true }) trusted_proxies: string[] = [];
  /** How much of an IPv6 address makes one caller. */
  @OneOf([64, 56, 48]) ipv6_prefix = 64;
  /** Embedded mode: whether accounts can be made. */
  @Flag() registration = true;
  /** Embedded mode: whoever registers must have one of these. None: everybody may. */
  @IsArray() @RegistrationToken({ each: true }) registration_tokens: string[] = [];
}
