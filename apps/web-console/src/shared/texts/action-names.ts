import { t } from '@lingui/core/macro';
import type { AccessAnswerView, CreateTokenDto } from '@headgate/api-contracts';
import { perLanguage } from './per-language.js';

type TokenAction = CreateTokenDto['actions'][number];

/** What a token may do, in the words of the console. */
export const tokenActions = perLanguage((): Readonly<Record<TokenAction, string>> => ({
  read: t`Read`,
  console: t`Consoles`,
  ports: t`Connect to ports`,
  power: t`Start and stop`,
  change: t`Change`,
  guest: t`Control the guest`,
  create: t`Create`,
  delete: t`Delete`,
  export: t`Export disks`,
}));

/** What a user may do, in the words of the console. */
export const accessActions = perLanguage((): Readonly<Record<AccessAnswerView['action'], string>> => ({
  ...tokenActions(),
  watch: t`Watch the screen`,
  secrets: t`Read secrets`,
  manage: t`Manage the service`,
}));
