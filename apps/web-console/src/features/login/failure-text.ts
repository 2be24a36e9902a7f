import { t } from '@lingui/core/macro';
import type { Failure } from './read-link.js';

/** What a user can do after a failed login at a provider. */
export function failureText(failure: Failure): string {
  switch (failure) {
    case 'canceled':
      return t`The login was canceled, or the provider refused it.`;
    case 'expired':
      return t`The login took too long, or was begun in another window. Try again.`;
    case 'unreachable':
      return t`The provider does not answer. Try again later, or use another way to log in.`;
    case 'refused':
      return t`The answer of the provider is not valid. The log of the service has the reason.`;
    case 'claims':
      return t`The provider does not report your login. Ask your administrator.`;
  }
}
