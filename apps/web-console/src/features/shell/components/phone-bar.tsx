import { t, plural } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Data } from '../../../shared/ui/data.js';
import { Dropdown, DropdownLink } from '../../../shared/ui/dropdown.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useLanguages } from '../use-languages.js';
import { useHealthCount } from '../use-page-counts.js';
import { usePages, type PageLink } from '../use-pages.js';
import { useThemeSwitch } from '../use-theme-switch.js';
import { useViews } from '../use-views.js';

const IN_BAR: readonly PageLink['name'][] = ['machines', 'health'];

/** The bar at the bottom edge of a phone: two pages, the tasks, and a menu with everything else. */
export function PhoneBar({ tasks }: { tasks: ReactNode }) {
  const pages = usePages();
  const problems = useHealthCount() ?? 0;
  return (
    <nav aria-label={t`Pages`} className="hg-phone-bar">
      {pages
        .filter(({ name }) => IN_BAR.includes(name))
        .map(({ name, href, label, icon, isCurrent }) => (
          <Link key={href} href={href} className="hg-phone-link" aria-current={isCurrent ? 'page' : undefined}>
            <Icon name={icon} />
            <span>{label}</span>
            {name === 'health' && problems > 0 && (
              <span className="hg-count hg-count--bad">
                {problems}
                <span className="hg-hidden"> {plural(problems, { one: 'problem', other: 'problems' })}</span>
              </span>
            )}
          </Link>
        ))}
      {tasks}
      <MoreMenu pages={pages.filter(({ name }) => !IN_BAR.includes(name))} />
    </nav>
  );
}

/** The other pages, the saved views, the theme, and the languages. */
function MoreMenu({ pages }: { pages: readonly PageLink[] }) {
  const { views, open } = useViews();
  const { label, icon, switchTheme } = useThemeSwitch();
  const { options } = useLanguages();
  const isCurrent = pages.some((page) => page.isCurrent);
  return (
    <Dropdown
      isPlain
      className={`hg-phone-more${isCurrent ? ' hg-phone-more--current' : ''}`}
      popup="dialog"
      panelLabel={t`More pages`}
      icon={<Icon name="menu" />}
      label={<span>{t`More`}</span>}
    >
      {pages.map((page) => (
        <DropdownLink key={page.href} href={page.href} isCurrent={page.isCurrent}>
          <Icon name={page.icon} />
          {page.label}
        </DropdownLink>
      ))}
      {views.map((view) => (
        <DropdownLink key={view.name} href={view.address} isCurrent={false} onOpen={() => open(view)}>
          <Icon name="bookmark" />
          <Data>{view.name}</Data>
        </DropdownLink>
      ))}
      <button type="button" className="hg-menu-item" onClick={switchTheme}>
        <Icon name={icon} />
        {label}
      </button>
      {options
        .filter((one) => !one.isCurrent)
        .map((one) => (
          <button key={one.choice} type="button" className="hg-menu-item" onClick={one.choose}>
            {t`Language: ${one.label}`}
          </button>
        ))}
    </Dropdown>
  );
}
