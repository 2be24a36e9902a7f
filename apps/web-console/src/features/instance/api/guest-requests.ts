import type { GuestCommandDto, GuestCommandView, GuestPasswordDto } from '@headgate/api-contracts';
import { postJson } from '../../../shared/api/request.js';

export const setGuestPassword = (body: GuestPasswordDto): Promise<unknown> =>
  postJson('/api/ext/guest/password', { body });

export const runGuestCommand = (body: GuestCommandDto): Promise<GuestCommandView> =>
  postJson('/api/ext/guest/command', { body });
