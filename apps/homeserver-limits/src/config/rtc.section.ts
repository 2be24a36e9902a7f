import { IsArray, IsOptional } from 'class-validator';
import { FilledText, ServerName, WebSocketUrl } from './fields.js';

/** The media-forwarding service. url, key and secret are set together or not at all. */
export class RtcSection {
  /** Where clients reach it. */
  @IsOptional() @WebSocketUrl() url?: string;
  @IsOptional() @FilledText() key?: string;
  @IsOptional() @FilledText() secret?: string;
  /** Gateway: the registration of an application service that may act as the users, to look up memberships. */
  @IsOptional() @FilledText() registration?: string;
  /** Other servers whose users may join calls here. Their OpenID tokens are checked with those servers. */
  @IsArray() @ServerName({ each: true }) trusted_servers: string[] = [];
}

export function rtcProblems({ url, key, secret, registration }: Readonly<RtcSection>, gateway: boolean): string[] {
  const given = [url, key, secret].filter((value) => value !== undefined).length;
  const problems = given === 1 || given === 2 ? ['rtc.url, rtc.key and rtc.secret belong together'] : [];
  if (gateway && given > 0 && registration === undefined) {
    problems.push('rtc.registration is needed in front of a homeserver: the gateway looks up memberships with it');
  }
  if (registration !== undefined && (!gateway || given === 0)) {
    problems.push('rtc.registration is for rtc.url in front of a homeserver');
  }
  return problems;
}
