import { ApiTokenStore, type ApiToken, type ApiTokenChange, type Leash } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

interface TokenRow extends Omit<ApiToken, 'scope' | 'actions' | 'addresses' | 'agent' | 'isStopped' | 'isOfDevice'> {
  readonly scope: string;
  readonly actions: string;
  readonly addresses: string | null;
  readonly agent: string | null;
  readonly stopped: number | null;
  readonly device: number | null;
}

const COLUMNS = `SELECT id, name, hash, creator, scope, actions, addresses, agent, stopped, device, created_at AS createdAt,
  expires_at AS expiresAt, last_used_at AS lastUsedAt FROM api_token`;

/** ApiTokenStore over the registry. */
export class SqliteApiTokenStore extends ApiTokenStore {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override async put({
    id,
    name,
    hash,
    creator,
    scope,
    actions,
    addresses,
    agent,
    isStopped,
    isOfDevice,
    createdAt,
    expiresAt,
    lastUsedAt,
  }: ApiToken): Promise<void> {
    this.database.run(
      `INSERT OR REPLACE INTO api_token
         (id, name, hash, creator, scope, actions, addresses, agent, stopped, device, created_at, expires_at,
          last_used_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      name,
      hash,
      creator,
      JSON.stringify(scope),
      JSON.stringify(actions),
      jsonOf(addresses),
      jsonOf(agent),
      flagOf(isStopped),
      flagOf(isOfDevice),
      createdAt,
      expiresAt,
      lastUsedAt,
    );
  }

  override get(id: string): ApiToken | undefined {
    const row = this.database.get<TokenRow>(`${COLUMNS} WHERE id = ?`, id);
    return row && tokenOf(row);
  }

  override all(): readonly ApiToken[] {
    return this.database.all<TokenRow>(`${COLUMNS} ORDER BY created_at DESC, id`).map(tokenOf);
  }

  override async update(
    id: string,
    { hash, creator, actions, addresses, agent, isStopped, scope, expiresAt }: ApiTokenChange,
    formerHash?: string,
  ): Promise<boolean> {
    const changed = this.database.run(
      `UPDATE api_token SET hash = coalesce(?, hash), creator = coalesce(?, creator), actions = coalesce(?, actions),
         addresses = coalesce(?, addresses), agent = coalesce(?, agent), stopped = coalesce(?, stopped), scope = coalesce(?, scope), expires_at = coalesce(?, expires_at)
         WHERE id = ? AND hash = coalesce(?, hash)`,
      hash ?? null,
      creator ?? null,
      jsonOf(actions),
      jsonOf(addresses),
      jsonOf(agent),
      flagOf(isStopped),
      jsonOf(scope),
      expiresAt ?? null,
      id,
      formerHash ?? null,
    );
    return changed > 0;
  }

  override async setLastUsed(id: string, time: string): Promise<void> {
    this.database.run('UPDATE api_token SET last_used_at = ? WHERE id = ?', time, id);
  }

  override async delete(id: string): Promise<boolean> {
    return this.database.run('DELETE FROM api_token WHERE id = ?', id) > 0;
  }
}

const jsonOf = (value: object | undefined): string | null => (value === undefined ? null : JSON.stringify(value));

const flagOf = (flag: boolean | undefined): number | null => (flag === undefined ? null : Number(flag));

const tokenOf = ({ addresses, agent, stopped, device, ...row }: TokenRow): ApiToken => ({
  ...row,
  scope: JSON.parse(row.scope) as ApiToken['scope'],
  actions: JSON.parse(row.actions) as ApiToken['actions'],
  ...(addresses !== null && { addresses: JSON.parse(addresses) as string[] }),
  ...(agent !== null && { agent: JSON.parse(agent) as Leash }),
  ...(stopped !== null && { isStopped: stopped !== 0 }),
  ...(device !== null && { isOfDevice: device !== 0 }),
});
