import { t } from '@lingui/core/macro';
import { messageOf } from '../../shared/api/api-error.js';
import { useRemembered } from '../../shared/storage/remembered.js';
import {
  chooseLanguage,
  LANGUAGE_KEY,
  languageOf,
  LANGUAGES,
  type Language,
  type LanguageChoice,
} from '../../shared/texts/language.js';
import { useNotify } from '../../shared/ui/notifications.js';

interface LanguageOption {
  readonly choice: LanguageChoice;
  /** In the language itself, because a user may not understand the current one. */
  readonly label: string;
  readonly isCurrent: boolean;
  readonly choose: () => void;
}

/** The languages that the user can choose. If the texts of one do not arrive, the current one stays. */
export function useLanguages(): { readonly current: Language; readonly options: readonly LanguageOption[] } {
  const [chosen] = useRemembered<LanguageChoice>(LANGUAGE_KEY, 'browser');
  const notify = useNotify();
  const choose = (choice: LanguageChoice): void =>
    void chooseLanguage(choice).catch((error: unknown) =>
      notify({ variant: 'danger', title: t`Couldn't load the language`, body: messageOf(error) }),
    );
  const choices: readonly [LanguageChoice, string][] = [
    ['browser', t`Language of the browser`],
    ...(Object.entries(LANGUAGES) as [Language, string][]),
  ];
  return {
    current: languageOf(chosen),
    options: choices.map(([choice, label]) => ({
      choice,
      label,
      isCurrent: choice === chosen,
      choose: () => choose(choice),
    })),
  };
}
