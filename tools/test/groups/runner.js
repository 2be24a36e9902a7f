import TestRunner from 'jest-runner';
import { divide } from './divide.js';
import { writeGroupFile } from './group-file.js';
import { split, withoutFile } from './split.js';

/**
 * Runs several spec files of a project in one module registry, and reports each as if it had run on its own. Loading
 * the modules takes more of the time than the tests do, when each file loads them again.
 */
export default class GroupRunner extends TestRunner {
  /** The tests of each group file, by its path. */
  #groups = new Map();

  async runTests(tests, watcher, options) {
    return super.runTests(this.#isWhole() ? this.#grouped(tests) : tests, watcher, options);
  }

  /** A pattern for names would meet the names of the files too, and collecting of tests does not run them. */
  #isWhole() {
    const { testNamePattern, collectTests, watch, watchAll, detectLeaks } = this._globalConfig;
    return !(testNamePattern || collectTests || watch || watchAll || detectLeaks);
  }

  #grouped(tests) {
    const byProject = Map.groupBy(tests, ({ context }) => context.config.id);
    const { maxWorkers } = this._globalConfig;
    const groups = [...byProject.values()].flatMap((list) => divide(list, { workers: maxWorkers }));
    return groups.map((group) => (group.length === 1 ? group[0] : this.#together(group)));
  }

  #together(group) {
    const [first] = group;
    const { cacheDirectory, rootDir } = first.context.config;
    const paths = group.map(({ path }) => path);
    const path = writeGroupFile(cacheDirectory, rootDir, paths);
    this.#groups.set(path, group);
    return { ...first, path };
  }

  on(event, listener) {
    return super.on(event, async (payload) => {
      const [subject, detail] = payload;
      const path = typeof subject === 'string' ? subject : subject.path;
      const group = this.#groups.get(path);
      if (!group) return listener(payload);
      for (const part of this.#parts(event, group, detail)) await listener(part);
    });
  }

  /** What an event of a group says of each of its files. */
  #parts(event, group, detail) {
    switch (event) {
      case 'test-file-success': {
        const results = split(group, detail, this._globalConfig);
        return group.map((test, index) => [test, results[index]]);
      }
      case 'test-case-start':
      case 'test-case-result':
        return [[group[0].path, withoutFile(detail)]];
      default:
        return group.map((test) => [test, detail]);
    }
  }
}
