import { IsArray, IsOptional } from 'class-validator';
import { FilledText, ServerName, WebSocketUrl } from './fields.js';

/** The media-forwarding service; url, key and secret are given together or not at all. */
export class RtcSection {
  /** Where clients reach it. */
  @IsOptional() @WebSocketUrl() url?: string;
  @IsOptional() @FilledText() key?: string;
  @IsOptional() @FilledText() secret?: string;
  /** Other servers whose users may call here; their OpenID tokens are checked with them. */
  @IsArray() @ServerName({ each: true }) trusted_servers: string[] = [];
}
