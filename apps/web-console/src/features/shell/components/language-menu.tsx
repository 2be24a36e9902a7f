import { t } from '@lingui/core/macro';
import { LANGUAGES } from '../../../shared/texts/language.js';
import { Menu } from '../../../shared/ui/dropdown.js';
import { useLanguages } from '../use-languages.js';

/** The current language as a code, and a menu of the others. */
export function LanguageMenu() {
  const { current, options } = useLanguages();
  return (
    <Menu
      isPlain
      className="hg-language"
      label={
        <>
          <span className="hg-hidden-text">{t`Language: ${LANGUAGES[current]}`} </span>
          <span aria-hidden="true">{current.toUpperCase()}</span>
        </>
      }
      name={t`Language`}
      items={options.map(({ label, isCurrent, choose }) => ({
        label: isCurrent ? t`${label} (current)` : label,
        run: choose,
      }))}
    />
  );
}
