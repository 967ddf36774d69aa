/// A provider that speaks chat completions, and where its key and base URL come from.
#[derive(Debug, PartialEq, Eq)]
pub struct Service {
    /// The prefix of its models' names.
    pub name: &'static str,
    /// Its public address, or the usual one of a local server.
    pub base_url: &'static str,
    /// The variable with another base URL.
    pub base_env: &'static str,
    /// The variable with the key.
    pub key_env: &'static str,
    /// Whether `base_url` wants a key.
    pub needs_key: bool,
    /// Added to a given base URL that has no path; these servers' own variables hold the bare address.
    pub base_path: &'static str,
}

const fn public(name: &'static str, base_url: &'static str, base_env: &'static str, key_env: &'static str) -> Service {
    Service { name, base_url, base_env, key_env, needs_key: true, base_path: "" }
}

const fn local(name: &'static str, base_url: &'static str, base_env: &'static str, key_env: &'static str) -> Service {
    Service { name, base_url, base_env, key_env, needs_key: false, base_path: "" }
}

/// Every known service; the first is meant by a name without a prefix. Addresses are those of the providers' own documentation.
pub static SERVICES: &[Service] = &[
    public("openai", "https://api.openai.com/v1", "OPENAI_API_BASE", "OPENAI_API_KEY"),
    public("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_BASE", "OPENROUTER_API_KEY"),
    public("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_BASE", "DEEPSEEK_API_KEY"),
    public("groq", "https://api.groq.com/openai/v1", "GROQ_API_BASE", "GROQ_API_KEY"),
    public("xai", "https://api.x.ai/v1", "XAI_API_BASE", "XAI_API_KEY"),
    public("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_BASE", "MISTRAL_API_KEY"),
    public("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_BASE", "GEMINI_API_KEY"),
    // Its compatible endpoint: no prompt cache marks.
    Service { base_path: "/v1", ..public("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_BASE", "ANTHROPIC_API_KEY") },
    Service { base_path: "/v1", ..local("ollama", "http://127.0.0.1:11434/v1", "OLLAMA_API_BASE", "OLLAMA_API_KEY") },
    Service { base_path: "/v1", ..local("ollama_chat", "http://127.0.0.1:11434/v1", "OLLAMA_API_BASE", "OLLAMA_API_KEY") },
    local("lm_studio", "http://127.0.0.1:1234/v1", "LM_STUDIO_API_BASE", "LM_STUDIO_API_KEY"),
];
