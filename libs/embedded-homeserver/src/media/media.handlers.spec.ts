import { attachment } from './media.handlers.js';

test.each([
  [null, 'attachment'],
  ['', 'attachment'],
  ['a b.txt', "attachment; filename*=UTF-8''a%20b.txt"],
  ['é".txt\r\nX: y', "attachment; filename*=UTF-8''%C3%A9%22.txt%0D%0AX%3A%20y"],
  ["it's (1)*.txt", "attachment; filename*=UTF-8''it%27s%20%281%29%2A.txt"],
])('the file name %j gives the header %s', (name, header) => expect(attachment(name)).toBe(header));
