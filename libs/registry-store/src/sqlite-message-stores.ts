import {
  byMessageName,
  type MessageChannel,
  type MessageChannelStore,
  type MessageRule,
  type MessageRuleStore,
} from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';
import { SqliteJsonStore } from './sqlite-json-store.js';

/** MessageChannelStore over the registry. */
export class SqliteMessageChannelStore extends SqliteJsonStore<MessageChannel> implements MessageChannelStore {
  constructor(database: RegistryDatabase) {
    super(database, 'message_channel', byMessageName);
  }
}

/** MessageRuleStore over the registry. */
export class SqliteMessageRuleStore extends SqliteJsonStore<MessageRule> implements MessageRuleStore {
  constructor(database: RegistryDatabase) {
    super(database, 'message_rule', byMessageName);
  }
}
