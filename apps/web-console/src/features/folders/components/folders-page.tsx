import { t } from '@lingui/core/macro';
import { useMemo, useState } from 'react';
import { bulkOperations, type BulkOperation } from '../../../shared/actions/bulk-operations.js';
import { useActionRefusal, type ActionRefusal } from '../../../shared/actions/use-action-refusal.js';
import { busyReason } from '../../../shared/instances/busy.js';
import type { Instance } from '../../../shared/instances/instance.js';
import { usePeek } from '../../../shared/list/use-peek.js';
import { paths } from '../../../shared/location/paths.js';
import { isWithin } from '../../../shared/names/folder-name-rule.js';
import { ResourcePage } from '../../../shared/resources/resource-page.js';
import { ResourcePeek } from '../../../shared/resources/resource-peek.js';
import { ContextMenu } from '../../../shared/ui/context-menu.js';
import { Icon } from '../../../shared/ui/icon.js';
import { SearchInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import type { FolderChange } from '../folder-change.js';
import { dropProblem, type Dragged } from '../folder-drag.js';
import { folderMenu } from '../folder-menus.js';
import { flatNodes, foundNodes, membersOf, OUTSIDE, type FolderNode } from '../folder-nodes.js';
import { useFolderRefusal } from '../use-folder-refusal.js';
import { useFolderTree } from '../use-folder-tree.js';
import { useOpenedFolders } from '../use-opened-folders.js';
import { usePutIntoFolder } from '../use-put-into-folder.js';
import { DropPromise } from './drop-promise.js';
import { FolderBulk } from './folder-bulk.js';
import { FolderDialog } from './folder-dialog.js';
import { FolderPeek } from './folder-peek.js';
import { FolderTree } from './folder-tree.js';
import { PutDialog } from './put-dialog.js';
import { readableNumber } from '../../../shared/texts/formats.js';

/** The form, plan or operation that is open. */
type Task =
  | { readonly type: 'change'; readonly change: FolderChange }
  | { readonly type: 'put'; readonly member: Instance }
  | { readonly type: 'bulk'; readonly operation: BulkOperation; readonly folder: string };

interface OpenMenu {
  readonly path: string;
  readonly at: { readonly x: number; readonly y: number };
}

/** Members leave a folder with it, or one by one: an operation whose members leave the list could not be followed. */
const memberOperations = (refusal: ActionRefusal): readonly BulkOperation[] =>
  bulkOperations('vms', 'members', refusal).filter(({ name }) => name !== 'folder' && name !== 'unfolder');

/** The folders as a tree with sums. The selected one is part of the address, and its details are in the panel. */
export function FoldersPage() {
  const { query, nodes, entries, known, missingIn } = useFolderTree();
  const [peeked, peek] = usePeek(paths.folders);
  const [opened, toggle] = useOpenedFolders(peeked);
  const [text, setText] = useState('');
  const [task, setTask] = useState<Task>();
  const [menu, setMenu] = useState<OpenMenu>();
  const [dragged, setDragged] = useState<Dragged>();
  const [over, setOver] = useState<string>();
  const refusal = useFolderRefusal();
  const actionRefusal = useActionRefusal();
  const operations = useMemo(() => memberOperations(actionRefusal), [actionRefusal]);
  const { put } = usePutIntoFolder();
  const found = useMemo(() => foundNodes(nodes, text), [nodes, text]);
  const all = useMemo(() => flatNodes(nodes), [nodes]);
  const close = (): void => setTask(undefined);
  const begin = (next: Task): void => setTask(next);
  const change = (next: FolderChange): void => begin({ type: 'change', change: next });
  const select = (id: string | undefined): void => {
    close();
    peek(id);
  };
  const drag = (next: Dragged | undefined): void => {
    setDragged(next);
    setOver(undefined);
  };
  const refuse = (target: string): string | undefined => {
    if (!dragged) return undefined;
    const busy = 'member' in dragged ? busyReason(dragged.member) : undefined;
    return refusal ?? busy ?? dropProblem(dragged, target, known);
  };
  const drop = (target: string): void => {
    if (dragged && 'member' in dragged) put({ member: dragged.member, target });
    else if (dragged) change({ type: 'move', path: dragged.folder, parent: target });
    drag(undefined);
  };
  const finish = (done: FolderChange, to: string): void => {
    close();
    if (done.type === 'remove') peek(undefined);
    else peek(done.type === 'create' || peeked === undefined ? to : followed(peeked, done.path, to));
  };

  return (
    <>
      <ResourcePage
        title={t`Folders`}
        {...(query.data && { summary: summaryOf(nodes, entries.length) })}
        tools={
          <>
            {nodes.length > 0 && (
              <SearchInput
                className="hg-folder-search"
                aria-label={t`Find a folder`}
                placeholder={t`Find a folder`}
                value={text}
                onChange={setText}
              />
            )}
            <ReasonedButton
              icon={<Icon name="plus" />}
              reason={refusal}
              onClick={() => change({ type: 'create', parent: '' })}
            >
              {t`New folder`}
            </ReasonedButton>
          </>
        }
        query={query}
        none={t`A folder can contain machines of any context. Create the first one with New folder.`}
      >
        {found.length === 0 ? (
          <p role="status" className="hg-note">
            {t`No folder name contains this text.`}
          </p>
        ) : (
          <FolderTree
            nodes={found}
            opened={text.trim() === '' ? opened : new Set(all.map(({ id }) => id))}
            onToggle={toggle}
            selected={peeked}
            onSelect={(id) => select(id === peeked ? undefined : id)}
            onMenu={(path, at) => setMenu({ path, at })}
            canDrag={refusal === undefined}
            dragged={dragged}
            onDrag={drag}
            refusal={refuse}
            over={over}
            onOver={setOver}
            onDrop={drop}
          />
        )}
        {dragged && over !== undefined && <DropPromise dragged={dragged} target={over} refusal={refuse(over)} />}
        {peeked !== undefined && task?.type !== 'bulk' && (
          <ResourcePeek
            items={all}
            keyOf={({ id }) => id}
            nameOf={({ label }) => label}
            isText={({ id }) => id === OUTSIDE}
            peeked={peeked}
            onPeek={select}
            render={(node) => (
              <FolderPeek
                node={node}
                members={membersOf(node.id, entries)}
                missing={node.id === OUTSIDE ? 0 : missingIn((path) => isWithin(path, node.id))}
                operations={operations}
                refusal={refusal}
                onChange={change}
                onOperation={(operation) => begin({ type: 'bulk', operation, folder: node.id })}
                onPut={(member) => begin({ type: 'put', member })}
                onDrag={(member) => drag(member && { member })}
              />
            )}
          />
        )}
        {menu && (
          <ContextMenu
            label={t`Actions for ${menu.path}`}
            at={menu.at}
            items={folderMenu(menu.path, refusal, change)}
            onClose={() => setMenu(undefined)}
          />
        )}
        {task?.type === 'bulk' && (
          <FolderBulk
            operation={task.operation}
            members={membersOf(task.folder, entries)}
            operations={operations}
            onClose={close}
          />
        )}
        {task?.type === 'put' && <PutDialog member={task.member} known={known} onClose={close} />}
      </ResourcePage>
      {/* Also the first folder is created here. */}
      {task?.type === 'change' && (
        <FolderDialog
          key={JSON.stringify(task.change)}
          change={task.change}
          known={known}
          onClose={close}
          onDone={(to) => finish(task.change, to)}
        />
      )}
    </>
  );
}

/** Where the selected folder is after a move. */
const followed = (selected: string, from: string, to: string): string =>
  isWithin(selected, from) ? `${to}${selected.slice(from.length)}` : selected;

/** `9,868 of 10,000 machines and containers are in a folder, 3 failing`. */
function summaryOf(nodes: readonly FolderNode[], total: number): string {
  const outside = nodes.find(({ id }) => id === OUTSIDE)?.sums.total ?? total;
  const failing = nodes.reduce((sum, { sums }) => sum + sums.failing, 0);
  return [
    t`${readableNumber(total - outside)} of ${readableNumber(total)} machines and containers are in a folder`,
    ...(failing > 0 ? [t`${readableNumber(failing)} failing`] : []),
  ].join(', ');
}
