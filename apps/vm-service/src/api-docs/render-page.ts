import type { DocumentShape } from './document-shape.js';
import { escapeHtml, prose, table } from './html.js';
import { PAGE_STYLE } from './page-style.js';
import { renderOperation } from './render-operation.js';
import { renderSchema } from './render-schema.js';

/** The API document as a page for people. It has no script and loads nothing. */
export function renderPage({ info, tags, paths, components }: DocumentShape): string {
  const title = escapeHtml(`${info.title} API`);
  const links = tags.map(({ name }) => `<a href="#tag-${escapeHtml(name)}">${escapeHtml(name)}</a>`);
  const schemes = Object.entries(components.securitySchemes).map(([name, { description = '' }]) => [
    `<code>${escapeHtml(name)}</code>`,
    prose(description),
  ]);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${PAGE_STYLE}</style></head><body>
<h1>${title}</h1><p>${prose(info.description ?? '')} Version ${escapeHtml(info.version)}.
<a href="openapi.json">The document</a> (OpenAPI 3.1) is for programs.</p>
<nav>${links.join(' ')} <a href="#schemas">Schemas</a></nav>
<h2>Authentication</h2>${table(['Scheme', 'Description'], schemes)}
${tags.map((tag) => renderTag(tag, paths)).join('\n')}
<h2 id="schemas">Schemas</h2>${Object.entries(components.schemas).map(renderSchema).join('\n')}
</body></html>
`;
}

function renderTag({ name, description = '' }: DocumentShape['tags'][number], paths: DocumentShape['paths']): string {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags = [] }]) => tags.includes(name))
      .map(([method, operation]) => renderOperation(method, path, operation)),
  );
  return `<h2 id="tag-${escapeHtml(name)}">${escapeHtml(name)}</h2><p>${prose(description)}</p>${operations.join('\n')}`;
}
