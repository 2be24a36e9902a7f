import { Directory } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Aliases } from './aliases.js';

@Injectable()
export class EmbeddedDirectory extends Directory {
  constructor(private readonly aliases: Aliases) {
    super();
  }

  override async roomOf(alias: string): Promise<string | undefined> {
    return this.aliases.room(alias);
  }
}
