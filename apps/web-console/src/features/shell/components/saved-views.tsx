import { t } from '@lingui/core/macro';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { Icon } from '../../../shared/ui/icon.js';
import { Menu } from '../../../shared/ui/dropdown.js';
import { messageOf } from '../../../shared/api/api-error.js';
import { useViews, type SavedView } from '../use-views.js';
import { ViewDialog } from './view-dialog.js';

type Dialog = { readonly type: 'save' } | { readonly type: 'rename'; readonly view: SavedView };

/** The saved views: lists with their query, order, and columns. */
export function SavedViews() {
  const headingId = useId();
  const { views, isLoaded, error, address, open, save, rename, move, remove } = useViews();
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  return (
    <nav aria-labelledby={headingId} className="hg-side-links">
      <div className="hg-side-heading">
        <span id={headingId}>{t`Views`}</span>
        <button
          type="button"
          className="hg-icon-button"
          aria-label={t`Save this list as a view`}
          title={address === undefined ? t`Views are saved on the page of a list` : t`Save this list as a view`}
          aria-disabled={address === undefined}
          onClick={() => address !== undefined && setDialog({ type: 'save' })}
        >
          <Icon name="plus" />
        </button>
      </div>
      {isLoaded && views.length === 0 && <p className="hg-note">{t`Save a search to find it here.`}</p>}
      {error && (
        <p className="hg-note hg-status--danger" role="alert">
          {messageOf(error)}
        </p>
      )}
      {views.map((view, index) => (
        <div key={view.id} className="hg-side-view">
          <Link
            href={view.address}
            className="hg-side-link"
            aria-current={view.address === address ? 'true' : undefined}
            title={view.name}
            onClick={() => open(view)}
          >
            <Icon name="bookmark" />
            <span className="hg-side-label">{view.name}</span>
          </Link>
          <Menu
            isPlain
            isSmall
            className="hg-side-menu"
            icon={<Icon name="more" />}
            label={t`Change the view ${view.name}`}
            items={[
              { label: t`Rename…`, icon: 'edit', run: () => setDialog({ type: 'rename', view }) },
              ...(index > 0 ? [{ label: t`Move up`, run: () => move(view, -1) }] : []),
              ...(index < views.length - 1 ? [{ label: t`Move down`, run: () => move(view, 1) }] : []),
              { label: t`Delete`, icon: 'trash', run: () => remove(view) },
            ]}
          />
        </div>
      ))}
      {dialog && (
        <ViewDialog
          title={dialog.type === 'save' ? t`Save view` : t`Rename view`}
          name={dialog.type === 'save' ? '' : dialog.view.name}
          taken={views.map(({ name }) => name)}
          mayReplace={dialog.type === 'save'}
          onClose={close}
          onName={(name) => {
            if (dialog.type === 'save') save(name);
            else rename(dialog.view, name);
            close();
          }}
        />
      )}
    </nav>
  );
}
