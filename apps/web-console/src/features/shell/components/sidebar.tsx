import { t } from '@lingui/core/macro';
import { Icon } from '../../../shared/ui/icon.js';
import { Inventory } from '../inventory/inventory.js';
import { useSidebarFold } from '../use-sidebar-fold.js';
import { PageLinks } from './page-links.js';
import { SavedViews } from './saved-views.js';

/** The pages, saved views, and the inventory. Folded, it shows the icons of the pages. */
export function Sidebar() {
  const [isFolded, toggle] = useSidebarFold();
  const label = isFolded ? t`Unfold the sidebar` : t`Fold the sidebar`;
  return (
    <aside className="hg-side" aria-label={t`Sidebar`} data-folded={isFolded}>
      <div className="hg-side-parts">
        <PageLinks isFolded={isFolded} />
        {!isFolded && <SavedViews />}
        {!isFolded && <Inventory />}
      </div>
      <button
        type="button"
        className="hg-side-link hg-side-fold"
        aria-expanded={!isFolded}
        title={`${label} (\\)`}
        onClick={toggle}
      >
        <Icon name="sidebar" />
        <span className="hg-side-label">{label}</span>
      </button>
    </aside>
  );
}
