import { t } from '@lingui/core/macro';
import { Dropdown, DropdownLink } from '../../../shared/ui/dropdown.js';
import { usePages } from '../use-pages.js';
import { useViews } from '../use-views.js';

/** The pages and saved views in a menu, where there is no room for a sidebar. */
export function PagesMenu() {
  const pages = usePages();
  const { views, open } = useViews();
  return (
    <nav aria-label={t`Pages`} className="hg-nav">
      <Dropdown
        isPlain
        className="hg-nav-menu"
        popup="dialog"
        panelLabel={t`Pages`}
        label={pages.find(({ isCurrent }) => isCurrent)?.label ?? t`Pages`}
      >
        {pages.map(({ href, label, isCurrent }) => (
          <DropdownLink key={href} href={href} isCurrent={isCurrent}>
            {label}
          </DropdownLink>
        ))}
        {views.map((view) => (
          <DropdownLink key={view.name} href={view.address} isCurrent={false} onOpen={() => open(view)}>
            {view.name}
          </DropdownLink>
        ))}
      </Dropdown>
    </nav>
  );
}
