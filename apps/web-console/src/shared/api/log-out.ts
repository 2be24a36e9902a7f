import { loginRequired } from './login-required.js';
import { postJson } from './request.js';

/** Ends the session, here and at the login provider. @throws ApiError */
export async function logOut(): Promise<void> {
  const { redirect } = await postJson('/api/ext/login/logout');
  if (redirect === null) loginRequired.set(true);
  else location.assign(redirect);
}
