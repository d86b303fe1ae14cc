"""Vendors of model APIs by the names that SDKs, gateways and conventions have for them.

One table for every door. What is in none of it keeps its name, and has a price where the prices
know it by that name alone.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VendorName:
    """The name that prices have for a vendor, another that senders use, and which senders do."""

    vendor: str
    alias: str
    source: str


SEMCONV = "OpenTelemetry gen_ai.provider.name, gen_ai.system (0.66b2)"
LITELLM = "LiteLLM custom_llm_provider (1.109)"
VERCEL = "Vercel AI SDK provider (packages/otel mapProviderName, August 2026)"
OPENINFERENCE = "OpenInference llm.provider, llm.system (August 2026)"
TRACELOOP = "OpenLLMetry GenAISystem (June 2026)"
PEOPLE = "as people write it"

TABLE = (
    VendorName("anthropic", "claude", PEOPLE),
    VendorName("aws", "amazon", PEOPLE),
    VendorName("aws", "amazon_bedrock", "LangChain"),
    VendorName("aws", "amazon-bedrock", VERCEL),
    VendorName("aws", "aws.bedrock", SEMCONV),
    VendorName("aws", "aws_bedrock", PEOPLE),
    VendorName("aws", "bedrock", LITELLM),
    VendorName("aws", "bedrock_converse", LITELLM),
    VendorName("aws", "bedrock-mantle", VERCEL),
    VendorName("azure", "az.ai.inference", SEMCONV),
    VendorName("azure", "az.ai.openai", SEMCONV),
    VendorName("azure", "azure.ai.inference", SEMCONV),
    VendorName("azure", "azure.ai.openai", SEMCONV),
    VendorName("azure", "azure_ai", LITELLM),
    VendorName("azure", "azure_openai", "LangChain"),
    VendorName("azure", "azure-openai", VERCEL),
    VendorName("azure", "azure_text", LITELLM),
    VendorName("cohere", "cohere_chat", LITELLM),
    VendorName("fireworks", "fireworks_ai", LITELLM),
    VendorName("fireworks", "fireworks-ai", PEOPLE),
    VendorName("google", "gcp.gemini", SEMCONV),
    VendorName("google", "gcp.gen_ai", SEMCONV),
    VendorName("google", "gcp.vertex_ai", SEMCONV),
    VendorName("google", "gemini", LITELLM),
    VendorName("google", "google-gla", "pydantic-ai"),
    VendorName("google", "google-vertex", VERCEL),
    VendorName("google", "google_ai_studio", "LangChain"),
    VendorName("google", "google_genai", "LangChain"),
    VendorName("google", "google_vertexai", "LangChain"),
    VendorName("google", "googlevertex", VERCEL),
    VendorName("google", "vertex", PEOPLE),
    VendorName("google", "vertex_ai", LITELLM),
    VendorName("google", "vertex_ai_beta", LITELLM),
    VendorName("google", "vertexai", OPENINFERENCE),
    VendorName("mistral", "mistral_ai", SEMCONV),
    VendorName("mistral", "mistralai", OPENINFERENCE),
    VendorName("moonshotai", "moonshot", OPENINFERENCE),
    VendorName("moonshotai", "moonshot_ai", SEMCONV),
    VendorName("openai", "text-completion-openai", LITELLM),
    VendorName("together", "together_ai", TRACELOOP),
    VendorName("together", "together-ai", PEOPLE),
    VendorName("together", "togetherai", VERCEL),
    VendorName("voyageai", "voyage", LITELLM),
    VendorName("x-ai", "x_ai", SEMCONV),
    VendorName("x-ai", "xai", LITELLM),
    VendorName("zai", "z-ai", "OpenRouter"),
)
VENDORS = {name.alias: name.vendor for name in TABLE}
"""By alias, the name that prices have."""


PRICED = frozenset(
    (
        *("anthropic", "arcee", "avian", "aws", "azure", "baseten", "cerebras", "cloudflare"),
        *("cohere", "cursor", "databricks", "deepseek", "doubleword", "elevenlabs", "fireworks"),
        *("github-copilot", "google", "groq", "huggingface_cerebras", "huggingface_fireworks-ai"),
        *("huggingface_groq", "huggingface_hyperbolic", "huggingface_nebius", "huggingface_novita"),
        *("huggingface_nscale", "huggingface_ovhcloud", "huggingface_publicai"),
        *("huggingface_sambanova", "huggingface_together", "meta", "minimax", "mistral", "modal"),
        *("moonshotai", "novita", "openai", "openai-decisions", "openrouter", "ovhcloud"),
        *("perplexity", "quicksilverpro", "together", "typesafe", "voyageai", "x-ai", "zai"),
        "zhipuai",
    )
)
"""Vendors that the table of public prices has, which no web process loads."""

SURFACES = frozenset(
    (
        *("anthropic", "chat", "completion", "completions", "embedding", "embeddings", "files"),
        *("generative-ai", "image", "messages", "realtime", "reranking", "responses", "speech"),
        *("tools", "transcription", "vertex", "video"),
    )
)
"""What Vercel's SDK puts behind a vendor's name for the interface that was called."""


def vendor_named(name: str) -> str:
    """Return a vendor's name as prices have it: of `openai.chat` or `google.vertex.chat` too."""
    plain = name.strip().lower()
    while plain not in VENDORS:
        head, dot, surface = plain.rpartition(".")
        if not (dot and head and surface in SURFACES):
            return plain
        plain = head
    return VENDORS[plain]
