import { fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { jest } from '@jest/globals';
import { SidePanel, SidePanelOutlet } from './side-panel.js';

describe('SidePanel', () => {
  const onClose = jest.fn();
  beforeEach(() => {
    localStorage.clear();
    onClose.mockClear();
    // jsdom has no pointers; a pointer event is a mouse event with more fields.
    Object.assign(globalThis, { PointerEvent: MouseEvent });
    Object.assign(Element.prototype, { setPointerCapture: () => undefined });
  });
  const show = () =>
    render(
      <>
        <main>
          <button type="button">Before</button>
          <SidePanel label="web-1" onClose={onClose}>
            <button type="button">Inside</button>
          </SidePanel>
        </main>
        <SidePanelOutlet />
      </>,
    );
  const edge = () => screen.getByRole('separator', { name: 'Width of the panel' });

  test('appears in the outlet, after the page', () => {
    show();
    const panel = screen.getByRole('complementary', { name: 'web-1' });
    expect(screen.getByRole('main').contains(panel)).toBe(false);
    expect(panel.contains(screen.getByRole('button', { name: 'Inside' }))).toBe(true);
    expect(screen.getByRole('main').compareDocumentPosition(panel)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  });

  test('shows nothing without an outlet', () => {
    render(
      <SidePanel label="web-1" onClose={onClose}>
        text
      </SidePanel>,
    );
    expect(screen.queryByText('text')).toBeNull();
  });

  test('is resized with the keys, within its limits, and remembers the width', async () => {
    const { unmount } = show();
    edge().focus();
    await userEvent.keyboard('{ArrowLeft}');
    expect(edge().getAttribute('aria-valuenow')).toBe('388');
    await userEvent.keyboard('{End}{ArrowLeft}');
    expect(edge().getAttribute('aria-valuenow')).toBe('560');
    await userEvent.keyboard('{Home}{ArrowRight}');
    expect(edge().getAttribute('aria-valuenow')).toBe('320');
    unmount();
    show();
    expect(edge().getAttribute('aria-valuenow')).toBe('320');
    expect(screen.getByRole('complementary').style.inlineSize).toBe('320px');
  });

  test('is resized by dragging its edge, and a double click resets the width', () => {
    show();
    fireEvent.pointerDown(edge(), { clientX: 1000, button: 0 });
    fireEvent.pointerMove(edge(), { clientX: 960 });
    fireEvent.pointerUp(edge(), { clientX: 960 });
    fireEvent.pointerMove(edge(), { clientX: 900 });
    expect(edge().getAttribute('aria-valuenow')).toBe('412');
    fireEvent.doubleClick(edge());
    expect(edge().getAttribute('aria-valuenow')).toBe('372');
  });

  test('closes on Escape, unless a part of it has used the key', async () => {
    show();
    const inside = screen.getByRole('button', { name: 'Inside' });
    inside.focus();
    await userEvent.keyboard('{Escape}');
    expect(onClose).toHaveBeenCalledTimes(1);
    inside.addEventListener('keydown', (event) => event.preventDefault());
    await userEvent.keyboard('{Escape}');
    expect(onClose).toHaveBeenCalledTimes(1);
  });
});
