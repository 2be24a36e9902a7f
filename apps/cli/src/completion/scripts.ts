/** The shells for which there is a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Each script asks the program for the words that fit, and takes its lines as they are: a shell must not expand the
 * name of an instance.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for headgate. Load it with: source <(headgate completion bash)
_headgate() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(headgate __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _headgate headgate
`,
  zsh: `#compdef headgate
# zsh completion for headgate. Load it with: source <(headgate completion zsh)
_headgate() {
  local -a fitting
  fitting=("\${(@f)$(headgate __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a fitting
}
compdef _headgate headgate
`,
  fish: `# fish completion for headgate. Load it with: headgate completion fish | source
function __headgate_complete
  set -l words (commandline -opc)
  headgate __complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c headgate -f -a '(__headgate_complete)'
`,
};
