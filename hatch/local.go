package hatch

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// probeLimit bounds the look for one local model server.
const probeLimit = 300 * time.Millisecond

// answering is a model of the first provider on loopback that answers, as provider/model; empty where none does.
func answering(providers map[string]providerSettings) string {
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		base := providers[name].BaseURL
		address, err := url.Parse(base)
		if err != nil || !loopback(address.Hostname()) {
			continue
		}
		if model := firstModel(base); model != "" {
			return name + "/" + model
		}
	}
	return ""
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// firstModel asks a server for its models.
func firstModel(base string) string {
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return ""
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(req)
	if err != nil {
		return ""
	}
	defer reply.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(reply.Body, 1<<20)).Decode(&list) != nil || len(list.Data) == 0 {
		return ""
	}
	return list.Data[0].ID
}
