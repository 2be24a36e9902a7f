/** The role and the names of the panel on the right of the page, which is next to the sidebar of the same role. */
export const PANEL = ['complementary', { name: /^(?!Sidebar$)/ }] as const;
