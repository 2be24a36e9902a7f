import { IsArray, IsOptional } from 'class-validator';
import { FilledText, ServerName, WebSocketUrl } from './fields.js';

/** The media-forwarding service; url, key and secret are given together or not at all. */
export class RtcSection {
  /** Where clients reach it. */
  @IsOptional() @WebSocketUrl() url?: string;
  @IsOptional() @FilledText() key?: string;
  @IsOptional() @FilledText() secret?: string;
  /** Gateway: the registration of an application service that may speak for the users here, to ask for their rooms. */
  @IsOptional() @FilledText() registration?: string;
  /** Embedded: other servers whose users may call here; their OpenID tokens are checked with them. */
  @IsArray() @ServerName({ each: true }) trusted_servers: string[] = [];
}

export function rtcProblems(
  { url, key, secret, registration, trusted_servers }: Readonly<RtcSection>,
  gateway: boolean,
): string[] {
  const given = [url, key, secret].filter((value) => value !== undefined).length;
  const problems = given === 1 || given === 2 ? ['rtc.url, rtc.key and rtc.secret belong together'] : [];
  if (gateway && given > 0 && registration === undefined) {
    problems.push(
      'rtc.registration is needed in front of a homeserver: without it nobody can ask who is a member of a room',
    );
  }
  if (registration !== undefined && (!gateway || given === 0)) {
    problems.push('rtc.registration is for rtc.url in front of a homeserver');
  }
  if (gateway && trusted_servers.length > 0) {
    problems.push(
      'rtc.trusted_servers is for the embedded mode: the homeserver cannot be asked for rooms of users of other servers',
    );
  }
  return problems;
}
